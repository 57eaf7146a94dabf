//! Draws ids through redis-rs, with the connection manager that it has for connections that come back.

mod report;

use redis::aio::ConnectionManager;
use redis::{
    AsyncCommands, Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo, RedisResult,
};
use report::Report;

fn main() -> RedisResult<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(draw())
}

async fn draw() -> RedisResult<()> {
    let report = Report::new();
    report.tell_version();
    let mut db = connect(&report).await?;

    report.tell("own", db.incr::<_, _, i64>(&report.own, 1).await?);
    report.tell("block", db.incr::<_, _, i64>(&report.own, 1000).await?);
    report.tell("snowflake", db.get::<_, String>(&report.snowflake).await?);
    report.tell_all(
        "shared",
        many(&mut db, redis::pipe(), &report.shared, 10000).await?,
    );
    report.tell_all(
        "own",
        many(&mut db, redis::pipe().atomic().clone(), &report.own, 100).await?,
    );
    report.tell_all("own", pop(&mut db, &report.own).await?);
    report.tell_all("snowflake", pop(&mut db, &report.snowflake).await?);
    let nope: RedisResult<()> = redis::cmd("REDLEAFNOPE")
        .arg("a")
        .query_async(&mut db)
        .await;
    if let Err(err) = nope {
        report.tell("error", err);
    }
    report.outage(&mut db).await;
    Ok(())
}

async fn connect(report: &Report) -> RedisResult<ConnectionManager> {
    let (host, port) = report.addr.rsplit_once(':').expect("an address has a port");
    let mut login = RedisConnectionInfo::default();
    if !report.password.is_empty() {
        login = login.set_password(&report.password);
    }
    let addr = ConnectionAddr::Tcp(host.into(), port.parse().expect("a port is a number"));
    let client = Client::open(addr.into_connection_info()?.set_redis_settings(login))?;
    client.get_connection_manager().await
}

/// Sends n INCR in one pipeline, with MULTI around it or without.
async fn many(
    db: &mut ConnectionManager,
    mut pipeline: redis::Pipeline,
    key: &str,
    n: usize,
) -> RedisResult<Vec<i64>> {
    for _ in 0..n {
        pipeline.cmd("INCR").arg(key);
    }
    pipeline.query_async(db).await
}

async fn pop(db: &mut ConnectionManager, key: &str) -> RedisResult<Vec<i64>> {
    db.lpop(key, std::num::NonZeroUsize::new(1000)).await
}
