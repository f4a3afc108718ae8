//! What the Rust agent and consumer share with those of other languages: the same options, the same request log, the
//! same one line at the end. It knows nothing of the SDK.
#![allow(dead_code)] // each of the two programs uses its half

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Value, json};

pub const NONCE_HEADER: &str = "x-a2a-lab-nonce";
const OWN_BUG: i32 = 3;
const SHOWN_CHARACTERS: usize = 120; // of a text, in the sentence only

/// Headers that say how a client behaves; anything that may carry a credential is left out.
pub const LOGGED_HEADERS: [&str; 7] = [
    "a2a-version", "a2a-extensions", "accept", "content-type", "if-none-match", "user-agent", "x-tenant",
];

/// The words after each option; an option that is not known ends the program.
pub struct Options(HashMap<String, Vec<String>>);

impl Options {
    pub fn read(known: &[&str]) -> Options {
        let mut given: HashMap<String, Vec<String>> = HashMap::new();
        let mut last = String::new();
        for word in std::env::args().skip(1) {
            if let Some(name) = word.strip_prefix("--") {
                let (name, value) = match name.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (name, None),
                };
                if name == "help" {
                    println!("options: --{}", known.join(" --"));
                    std::process::exit(0);
                }
                if !known.contains(&name) {
                    usage(&format!("unrecognized arguments: {word}"));
                }
                last = name.to_string();
                given.insert(last.clone(), value.iter().map(|text| text.to_string()).collect());
            } else if let Some(words) = given.get_mut(&last) {
                words.push(word);
            } else {
                usage(&format!("unrecognized arguments: {word}"));
            }
        }
        Options(given)
    }

    pub fn given(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn all(&self, name: &str) -> Option<Vec<String>> {
        self.0.get(name).filter(|words| !words.is_empty()).cloned()
    }

    pub fn one(&self, name: &str, otherwise: &str) -> String {
        self.0.get(name).and_then(|words| words.first().cloned()).unwrap_or_else(|| otherwise.to_string())
    }

    pub fn number(&self, name: &str, otherwise: f64) -> f64 {
        match self.0.get(name).and_then(|words| words.first()) {
            None => otherwise,
            Some(text) => text.parse().unwrap_or_else(|_| usage(&format!("--{name} is a number, not {text}"))),
        }
    }
}

pub fn usage(problem: &str) -> ! {
    eprintln!("error: {problem}");
    std::process::exit(2)
}

/// Append one line to the request log.
pub fn write_down(log: &str, line: &Value) {
    use std::os::unix::fs::OpenOptionsExt;
    let opened = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(log);
    if let Ok(mut file) = opened {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

/// What the SDK delivered to its caller, in the order it came.
#[derive(Default)]
pub struct Seen {
    pub state: Option<String>,
    pub events: usize,
    artifacts: Vec<(String, String)>,
    messages: Vec<String>,
}

impl Seen {
    pub fn event(&mut self) {
        self.events += 1;
    }

    pub fn status(&mut self, state: &str) {
        self.state = Some(state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-"));
    }

    pub fn artifact(&mut self, id: &str, text: &str, more: bool) {
        match self.artifacts.iter_mut().find(|(name, _)| name == id) {
            Some((_, before)) if more => before.push_str(text),
            Some((_, before)) => *before = text.to_string(),
            None => self.artifacts.push((id.to_string(), text.to_string())),
        }
    }

    pub fn message(&mut self, text: &str) {
        self.messages.push(text.to_string());
    }

    fn said(&self, error: Option<&str>) -> String {
        if let Some(error) = error {
            return format!("failed after {} events: {}", self.events, shortened(error));
        }
        if self.events == 0 {
            return "nothing came, and the SDK reported no error".to_string();
        }
        let none = if self.messages.is_empty() { "ended without a state" } else { "answered" };
        let mut parts = vec![self.state.clone().unwrap_or_else(|| none.to_string())];
        parts.extend(self.artifacts.iter().map(|(id, text)| format!("artifact '{id}': '{}'", shortened(text))));
        parts.extend(self.messages.iter().map(|text| format!("message '{}'", shortened(text))));
        parts.join(", ")
    }

    /// End with the result on standard output.
    pub fn finish(&self, error: Option<String>) -> ! {
        let artifacts: Vec<Value> = self.artifacts.iter().map(|(id, text)| json!({"id": id, "text": text})).collect();
        // Written by hand, so that the line starts with "ok".
        println!(
            "\n{{\"ok\": {}, \"state\": {}, \"artifacts\": {}, \"events\": {}, \"error\": {}, \"said\": {}}}",
            error.is_none() && self.events > 0,
            json!(self.state),
            json!(artifacts),
            self.events,
            json!(error),
            json!(self.said(error.as_deref())),
        );
        std::process::exit(0)
    }
}

/// A panic of one of our own lines is our bug; one of the SDK's would come here too, and its place is printed.
pub fn end_on_panic() {
    std::panic::set_hook(Box::new(|problem| {
        eprintln!("{problem}");
        std::process::exit(OWN_BUG);
    }));
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARACTERS) {
        None => line,
        Some(_) => line.chars().take(SHOWN_CHARACTERS - 3).collect::<String>() + "...",
    }
}
