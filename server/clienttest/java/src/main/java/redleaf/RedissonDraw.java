package redleaf;

import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.LongCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.config.Config;

/** Draws ids through Redisson. */
final class RedissonDraw {
    public static void main(String[] args) throws Exception {
        Report report = new Report(Redisson.class, "redisson");
        RedissonClient db = Redisson.create(config());
        try {
            report.tell("own", db.getAtomicLong(Report.OWN).incrementAndGet());
            report.tell("block", db.getAtomicLong(Report.OWN).addAndGet(1000));
            report.tell("snowflake", db.getBucket(Report.SNOWFLAKE, StringCodec.INSTANCE).get());
            report.tellAll("shared", many(db, BatchOptions.ExecutionMode.IN_MEMORY, Report.SHARED, 10000));
            report.tellAll("own", many(db, BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC, Report.OWN, 100));
            report.tellAll("own", pop(db, Report.OWN));
            report.tellAll("snowflake", pop(db, Report.SNOWFLAKE));
            script(db);
            unknown(db, report);
            report.outage(() -> db.getAtomicLong(Report.SHARED).incrementAndGet());
        } finally {
            db.shutdown();
        }
    }

    private static Config config() {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + Report.HOST + ":" + Report.PORT);
        if (!Report.PASSWORD.isEmpty()) {
            config.setPassword(Report.PASSWORD);
        }
        return config;
    }

    /** Sends n INCR in one batch, with MULTI around it or without. */
    private static List<?> many(RedissonClient db, BatchOptions.ExecutionMode mode, String key, int n) {
        RBatch batch = db.createBatch(BatchOptions.defaults().executionMode(mode));
        for (int i = 0; i < n; i++) {
            batch.getAtomicLong(key).incrementAndGetAsync();
        }
        return batch.execute().getResponses();
    }

    /** Redisson never sends LPOP with a count: this is a batch of 1,000 LPOP. */
    private static List<?> pop(RedissonClient db, String key) {
        RBatch batch = db.createBatch();
        for (int i = 0; i < 1000; i++) {
            batch.getQueue(key, LongCodec.INSTANCE).pollAsync();
        }
        return batch.execute().getResponses();
    }

    /** A poll with a limit is a script, and must fail at once: Redisson repeats some errors for ever. */
    private static void script(RedissonClient db) {
        try {
            db.getQueue(Report.OWN, LongCodec.INSTANCE).poll(1000);
        } catch (RedisException e) {
            return;
        }
        throw new IllegalStateException("a script was run");
    }

    /** Redisson has no call for a command of one's own but a script, so its executor sends it. */
    private static void unknown(RedissonClient db, Report report) {
        RedisCommand<Object> nope = new RedisCommand<>("REDLEAFNOPE");
        try {
            var executor = ((Redisson) db).getCommandExecutor();
            executor.get(executor.writeAsync(Report.OWN, StringCodec.INSTANCE, nope, "a"));
        } catch (RedisException e) {
            report.tell("error", e.getMessage());
        }
    }
}
