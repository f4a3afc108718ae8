//! An echo agent on the official Rust SDK (a2a-server-lf 0.5.3), deterministic and without a model.
//!
//! A task is submitted, works, answers in two chunks of one artifact, completes. Everything on the wire is the SDK's
//! doing; options choose what a deployment may choose, or make the executor misbehave.

mod kit;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use a2a::*;
use a2a_server::*;
use async_stream::stream;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::middleware::{Next, from_fn};
use futures::stream::BoxStream;
use kit::{LOGGED_HEADERS, NONCE_HEADER, Options, usage, write_down};
use serde_json::{Map, Value, json};

const KNOWN: [&str; 9] =
    ["port", "mount", "interface-slash", "modes", "output-modes", "hang", "work", "log", "nonce"];
const BODY_BYTES: usize = 64 << 20;

struct Echo {
    work: Duration,
    hangs: bool,
    finishing: Arc<AtomicI64>,
}

impl AgentExecutor for Echo {
    /// Answers with what it was told: the text as it came, other parts by their kind and type.
    fn execute(&self, call: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let (work, hangs, finishing) = (self.work, self.hangs, self.finishing.clone());
        Box::pin(stream! {
            let (id, context) = call.task_info();
            let parts = call.message.as_ref().map(|message| message.parts.clone()).unwrap_or_default();
            if call.stored_task.is_none() {
                yield Ok(StreamResponse::Task(Task {
                    id: id.clone(),
                    context_id: context.clone(),
                    status: status(TaskState::Submitted),
                    artifacts: None,
                    history: call.message.clone().map(|message| vec![message]),
                    metadata: None,
                }));
            }
            tokio::time::sleep(work).await;
            yield Ok(moved(&id, &context, TaskState::Working));
            if hangs && finishing.fetch_sub(1, Ordering::SeqCst) <= 0 {
                std::future::pending::<()>().await;
            }
            let told = parts.iter().map(described).collect::<Vec<_>>().join(" ");
            for (index, chunk) in ["echo: ".to_string(), told].into_iter().enumerate() {
                tokio::time::sleep(work).await;
                yield Ok(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
                    task_id: id.clone(),
                    context_id: context.clone(),
                    artifact: Artifact {
                        artifact_id: "echo".to_string(),
                        name: Some("echo".to_string()),
                        description: None,
                        parts: vec![Part::text(chunk).with_media_type("text/plain")],
                        metadata: None,
                        extensions: None,
                    },
                    append: Some(index > 0),
                    last_chunk: Some(index > 0),
                    metadata: None,
                }));
            }
            tokio::time::sleep(work).await;
            yield Ok(moved(&id, &context, TaskState::Completed));
        })
    }

    fn cancel(&self, call: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let (id, context) = call.task_info();
        Box::pin(stream! { yield Ok(moved(&id, &context, TaskState::Canceled)); })
    }
}

fn status(state: TaskState) -> TaskStatus {
    TaskStatus { state, message: None, timestamp: None }
}

fn moved(id: &str, context: &str, state: TaskState) -> StreamResponse {
    StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: id.to_string(),
        context_id: context.to_string(),
        status: status(state),
        metadata: None,
    })
}

fn described(part: &Part) -> String {
    let kind = match &part.content {
        PartContent::Text(text) => return text.clone(),
        PartContent::Raw(_) => "raw",
        PartContent::Url(_) => "url",
        PartContent::Data(_) => "data",
    };
    format!("[{kind} {}]", part.media_type.as_deref().unwrap_or("untyped"))
}

/// One line of the request log.
fn line_of(request: &axum::http::request::Parts, body: &[u8]) -> Value {
    let headers: Map<String, Value> = LOGGED_HEADERS
        .iter()
        .filter_map(|name| Some((name.to_string(), json!(request.headers.get(*name)?.to_str().ok()?))))
        .collect();
    let call: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let at = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_secs_f64()).unwrap_or(0.0);
    json!({
        "at": at, "method": request.method.as_str(), "path": request.uri.path(), "headers": headers,
        "rpc": call.get("method").filter(|method| method.is_string()), "bytes": body.len(),
    })
}

#[tokio::main]
async fn main() {
    let options = Options::read(&KNOWN);
    if !options.given("port") {
        usage("--port is required");
    }
    let address = format!("127.0.0.1:{}", options.one("port", ""));
    let mount = format!("/{}", options.one("mount", "/").trim_start_matches('/'));
    let slash = if options.given("interface-slash") && !mount.ends_with('/') { "/" } else { "" };
    let modes = options.all("modes").unwrap_or_else(|| vec!["text/plain".to_string()]);
    let output_modes = options.all("output-modes").unwrap_or_else(|| vec!["text/plain".to_string()]);
    let card = AgentCard {
        name: "echo".to_string(),
        description: "Answers with what it was told".to_string(),
        version: "1.0.0".to_string(),
        supported_interfaces: vec![AgentInterface::new(
            format!("http://{address}{mount}{slash}"),
            TRANSPORT_PROTOCOL_JSONRPC,
        )],
        capabilities: AgentCapabilities { streaming: Some(true), ..Default::default() },
        default_input_modes: modes.clone(),
        default_output_modes: output_modes.clone(),
        skills: vec![AgentSkill {
            id: "echo".to_string(),
            name: "Echo".to_string(),
            description: "Answers with what it was told".to_string(),
            tags: vec!["echo".to_string()],
            examples: None,
            input_modes: Some(modes),
            output_modes: Some(output_modes),
            security_requirements: None,
        }],
        provider: None,
        documentation_url: None,
        icon_url: None,
        security_schemes: None,
        security_requirements: None,
        signatures: None,
    };
    let echo = Echo {
        work: Duration::from_secs_f64(options.number("work", 0.0)),
        hangs: options.given("hang"),
        finishing: Arc::new(AtomicI64::new(options.number("hang", 0.0) as i64)),
    };
    let handler = Arc::new(DefaultRequestHandler::new(echo, InMemoryTaskStore::new()));
    let rpc = a2a_server::jsonrpc::jsonrpc_router(handler);
    let cards = a2a_server::agent_card::agent_card_router(Arc::new(StaticAgentCard::new(card)));
    let routes = if mount == "/" { rpc.merge(cards) } else { axum::Router::new().nest(&mount, rpc).merge(cards) };
    let (log, nonce) = (options.one("log", ""), options.one("nonce", ""));
    let app = routes.layer(from_fn(move |request: Request, next: Next| {
        let (log, nonce) = (log.clone(), nonce.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = to_bytes(body, BODY_BYTES).await.unwrap_or_default();
            if !log.is_empty() {
                write_down(&log, &line_of(&parts, &body));
            }
            let mut response = next.run(Request::from_parts(parts, Body::from(body))).await;
            if let (false, Ok(value)) = (nonce.is_empty(), HeaderValue::from_str(&nonce)) {
                response.headers_mut().insert(NONCE_HEADER, value);
            }
            response
        }
    }));
    let listener = tokio::net::TcpListener::bind(&address).await.expect("the port is free");
    axum::serve(listener, app).await.expect("serves");
}
