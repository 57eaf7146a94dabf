package redleaf;

import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.SafeEncoder;

/** Draws ids through Jedis. */
final class JedisDraw {
    public static void main(String[] args) throws Exception {
        Report report = new Report(RedisClient.class, "jedis");
        try (RedisClient db = connect()) {
            report.tell("own", db.incr(Report.OWN));
            report.tell("block", db.incrBy(Report.OWN, 1000));
            report.tell("snowflake", db.get(Report.SNOWFLAKE));
            report.tellAll("shared", pipeline(db));
            report.tellAll("own", transaction(db));
            report.tellAll("own", db.lpop(Report.OWN, 1000));
            report.tellAll("snowflake", db.lpop(Report.SNOWFLAKE, 1000));
            try {
                db.sendCommand(() -> SafeEncoder.encode("REDLEAFNOPE"), "a");
            } catch (JedisDataException e) {
                report.tell("error", e.getMessage());
            }
            report.outage(() -> db.incr(Report.SHARED));
        }
    }

    private static RedisClient connect() {
        var builder = RedisClient.builder().hostAndPort(new HostAndPort(Report.HOST, Report.PORT));
        if (!Report.PASSWORD.isEmpty()) {
            builder.clientConfig(DefaultJedisClientConfig.builder().password(Report.PASSWORD).build());
        }
        return builder.build();
    }

    private static List<Long> pipeline(RedisClient db) {
        List<Response<Long>> replies = new ArrayList<>();
        try (AbstractPipeline pipeline = db.pipelined()) {
            for (int i = 0; i < 10000; i++) {
                replies.add(pipeline.incr(Report.SHARED));
            }
            pipeline.sync();
        }
        return replies.stream().map(Response::get).toList();
    }

    private static List<Object> transaction(RedisClient db) {
        try (AbstractTransaction transaction = db.multi()) {
            for (int i = 0; i < 100; i++) {
                transaction.incr(Report.OWN);
            }
            return transaction.exec();
        }
    }
}
