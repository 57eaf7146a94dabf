//! How a client program talks to the runner: lines on standard output, settings from the environment.

use std::{env, fmt::Display, path::Path, time::Duration};

use redis::AsyncCommands;
use redis::aio::ConnectionManager;

pub struct Report {
    pub addr: String,
    pub password: String,
    pub own: String,
    pub shared: String,
    pub snowflake: String,
    up: String,
}

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

impl Report {
    pub fn new() -> Self {
        let tag = setting("REDLEAF_TAG");
        Report {
            addr: setting("REDLEAF_ADDR"),
            password: setting("REDLEAF_PASSWORD"),
            own: format!("segment:{tag}"),
            shared: format!("segment:{}", setting("REDLEAF_SHARED")),
            snowflake: format!("snowflake:{tag}"),
            up: setting("REDLEAF_UP"),
        }
    }

    /// The library does not say its version; the manifest pins it.
    pub fn tell_version(&self) {
        let pinned = include_str!("../Cargo.toml")
            .lines()
            .find(|line| line.starts_with("redis ="));
        let version = pinned
            .and_then(|line| line.split('"').nth(1))
            .unwrap_or_default();
        self.tell("version", version.trim_start_matches('='));
    }

    pub fn tell(&self, kind: &str, word: impl Display) {
        println!("{kind} {}", word.to_string().replace('\n', " "));
    }

    pub fn tell_all(&self, kind: &str, ids: Vec<i64>) {
        ids.iter().for_each(|id| self.tell(kind, id));
    }

    /// Draws until the server went away and came back, and 10 ids more.
    pub async fn outage(&self, db: &mut ConnectionManager) {
        println!("ready");
        let (mut failed, mut after, mut example) = (0, 0, String::new());
        while after < 10 {
            let up = Path::new(&self.up).exists();
            match db.incr::<_, _, i64>(&self.shared, 1).await {
                Ok(id) => {
                    self.tell("shared", id);
                    after += up as usize;
                }
                Err(err) => {
                    failed += 1;
                    example = err.to_string();
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
        self.tell("failed", format!("{failed} {example}"));
    }
}
