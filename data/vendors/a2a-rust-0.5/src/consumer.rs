//! A consumer on the official Rust SDK (a2a-client-lf 0.2.9): its resolver finds the card, its factory the interface.

mod kit;

use std::sync::Arc;
use std::time::Duration;

use a2a::*;
use a2a_client::A2AClientFactory;
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::jsonrpc::JsonRpcTransportFactory;
use a2a_client::rest::RestTransportFactory;
use futures::StreamExt;
use kit::{Options, Seen, end_on_panic, usage};

const KNOWN: [&str; 7] = ["url", "op", "text", "mode", "file", "timeout", "card-path"];

fn part_of(options: &Options) -> Part {
    let mode = options.one("mode", "text/plain");
    let content = match options.given("file") {
        true => std::fs::read(options.one("file", "")).unwrap_or_else(|error| usage(&error.to_string())),
        false => options.one("text", "").into_bytes(),
    };
    let text = String::from_utf8_lossy(&content).to_string();
    let part = if mode.starts_with("text/") {
        Part::text(text)
    } else if mode == "application/json" {
        Part::data(serde_json::from_slice(&content).unwrap_or_else(|_| serde_json::json!({"text": text})))
    } else {
        Part::raw(content)
    };
    part.with_media_type(mode)
}

fn text_of(parts: &[Part]) -> String {
    let text = |part: &Part| match &part.content {
        PartContent::Text(text) => text.clone(),
        PartContent::Data(data) => data.to_string(),
        _ => format!("[{}]", part.media_type.as_deref().unwrap_or("untyped")),
    };
    parts.iter().map(text).collect()
}

fn state_of(status: &TaskStatus) -> String {
    serde_json::to_value(&status.state).ok().and_then(|state| state.as_str().map(str::to_string)).unwrap_or_default()
}

fn note_task(seen: &mut Seen, task: &Task) {
    seen.status(&state_of(&task.status));
    for artifact in task.artifacts.iter().flatten() {
        seen.artifact(&artifact.artifact_id, &text_of(&artifact.parts), false);
    }
}

fn note(seen: &mut Seen, event: &StreamResponse) {
    seen.event();
    match event {
        StreamResponse::Task(task) => note_task(seen, task),
        StreamResponse::Message(message) => seen.message(&text_of(&message.parts)),
        StreamResponse::StatusUpdate(update) => seen.status(&state_of(&update.status)),
        StreamResponse::ArtifactUpdate(update) => {
            let artifact = &update.artifact;
            seen.artifact(&artifact.artifact_id, &text_of(&artifact.parts), update.append.unwrap_or(false));
        }
    }
}

async fn converse(options: &Options, seen: &mut Seen) -> Result<(), Box<dyn std::error::Error>> {
    let timeout = Duration::from_secs_f64(options.number("timeout", 30.0));
    let http = reqwest::Client::builder().timeout(timeout).build()?;
    let card = AgentCardResolver::new(Some(http.clone())).resolve(&options.one("url", "")).await?;
    let client = A2AClientFactory::builder()
        .no_defaults()
        .register(Arc::new(JsonRpcTransportFactory::new(Some(http.clone()))))
        .register(Arc::new(RestTransportFactory::new(Some(http))))
        .build()
        .create_from_card(&card)
        .await?;
    let request = SendMessageRequest {
        message: Message::new(Role::User, vec![part_of(options)]),
        configuration: None,
        metadata: None,
        tenant: None,
    };
    if options.one("op", "") == "send" {
        seen.event();
        match client.send_message(&request).await {
            Ok(SendMessageResponse::Task(task)) => note_task(seen, &task),
            Ok(SendMessageResponse::Message(message)) => seen.message(&text_of(&message.parts)),
            Err(error) => {
                seen.events = 0;
                return Err(error.into());
            }
        }
    } else {
        let mut events = client.send_streaming_message(&request).await?;
        while let Some(event) = events.next().await {
            note(seen, &event?);
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() {
    end_on_panic();
    let options = Options::read(&KNOWN);
    if !options.given("url") || !["send", "stream"].contains(&options.one("op", "").as_str()) {
        usage("--url is required, and --op send or stream");
    }
    if options.given("card-path") {
        usage("this SDK's resolver cannot be told where to look for the card");
    }
    let mut seen = Seen::default();
    let error = converse(&options, &mut seen).await.err().map(|error| told(error.as_ref()));
    seen.finish(error)
}

/// The error with its causes, as far as they say more.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        if !text.contains(&inner.to_string()) {
            text += &format!(" (from {inner})");
        }
        cause = inner.source();
    }
    text
}
