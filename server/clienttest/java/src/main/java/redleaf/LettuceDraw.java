package redleaf;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import java.util.ArrayList;
import java.util.List;

/** Draws ids through Lettuce. */
final class LettuceDraw {
    public static void main(String[] args) throws Exception {
        Report report = new Report(RedisClient.class, "lettuce-core");
        RedisClient client = RedisClient.create(uri());
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            RedisCommands<String, String> db = connection.sync();
            report.tell("own", db.incr(Report.OWN));
            report.tell("block", db.incrby(Report.OWN, 1000));
            report.tell("snowflake", db.get(Report.SNOWFLAKE));
            report.tellAll("shared", pipeline(connection));
            report.tellAll("own", transaction(db));
            report.tellAll("own", db.lpop(Report.OWN, 1000));
            report.tellAll("snowflake", db.lpop(Report.SNOWFLAKE, 1000));
            try {
                db.dispatch(() -> "REDLEAFNOPE".getBytes(), new StatusOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8).add("a"));
            } catch (RedisCommandExecutionException e) {
                report.tell("error", e.getMessage());
            }
            report.outage(() -> db.incr(Report.SHARED));
        } finally {
            client.shutdown();
        }
    }

    private static RedisURI uri() {
        RedisURI.Builder builder = RedisURI.builder().withHost(Report.HOST).withPort(Report.PORT);
        if (!Report.PASSWORD.isEmpty()) {
            builder.withPassword(Report.PASSWORD.toCharArray());
        }
        return builder.build();
    }

    private static List<Long> pipeline(StatefulRedisConnection<String, String> connection) throws Exception {
        List<RedisFuture<Long>> futures = new ArrayList<>();
        for (int i = 0; i < 10000; i++) {
            futures.add(connection.async().incr(Report.SHARED));
        }
        List<Long> ids = new ArrayList<>();
        for (RedisFuture<Long> future : futures) {
            ids.add(future.get());
        }
        return ids;
    }

    private static List<Object> transaction(RedisCommands<String, String> db) {
        db.multi();
        for (int i = 0; i < 100; i++) {
            db.incr(Report.OWN);
        }
        return db.exec().stream().toList();
    }
}
