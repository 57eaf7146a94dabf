package redleaf;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisCluster;

/** Draws ids from several nodes, with the client that the argument names. */
final class Several {
    private static final List<HostAndPort> NODES = Arrays.stream(System.getenv("REDLEAF_ADDR").split(",")).map(HostAndPort::from).toList();
    private static final Path STOP = Path.of(System.getenv("REDLEAF_UP"));

    public static void main(String[] args) throws Exception {
        ToLongFunction<String> draw = switch (args[0]) {
            case "jedis" -> jedis();
            case "lettuce" -> lettuce(ClusterClientOptions.create());
            case "lettuce-adaptive" -> lettuce(ClusterClientOptions.builder().topologyRefreshOptions(
                    ClusterTopologyRefreshOptions.builder().enableAllAdaptiveRefreshTriggers()
                            .enablePeriodicRefresh(java.time.Duration.ofSeconds(1)).build()).build());
            default -> throw new IllegalArgumentException(args[0]);
        };
        List<Thread> workers = new java.util.ArrayList<>();
        for (int number = 0; number < 8; number++) {
            int first = number * 12;
            workers.add(startThread(() -> work(draw, first)));
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.exit(0);
    }

    private static Thread startThread(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    private static ToLongFunction<String> jedis() {
        tell("version " + version(JedisCluster.class, "jedis"));
        var db = new JedisCluster(NODES.stream().collect(Collectors.toSet()));
        return db::incr;
    }

    private static ToLongFunction<String> lettuce(ClusterClientOptions options) {
        tell("version " + version(RedisClusterClient.class, "lettuce-core"));
        var client = RedisClusterClient.create(NODES.stream().map(n -> RedisURI.create(n.getHost(), n.getPort())).toList());
        client.setOptions(options);
        var db = client.connect().sync();
        return db::incr;
    }

    private static String version(Class<?> library, String artifact) {
        return library.getProtectionDomain().getCodeSource().getLocation().getPath().replaceAll(".*/" + artifact + "-|\\.jar$", "");
    }

    private static void work(ToLongFunction<String> draw, int first) {
        long since = System.nanoTime();
        for (int i = first; !Files.exists(STOP); i++) {
            int tag = i % 100;
            try {
                long id = draw.applyAsLong("segment:t" + tag);
                tell("drew " + tag + " " + id + " " + (System.nanoTime() - since) / 1_000_000);
                since = System.nanoTime() + 20_000_000;
            } catch (RuntimeException e) {
                tell("failed " + e.toString().replace('\n', ' '));
            }
            pause();
        }
    }

    private static synchronized void tell(String line) {
        System.out.println(line);
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
