<?php
// Draws ids through phpredis.

declare(strict_types=1);

const MANY = 10000;

$own = 'segment:' . getenv('REDLEAF_TAG');
$shared = 'segment:' . getenv('REDLEAF_SHARED');
$snowflake = 'snowflake:' . getenv('REDLEAF_TAG');

function tell(string $kind, int|string ...$words): void
{
    echo $kind, ' ', implode(' ', $words), "\n";
}

function tellAll(string $kind, array $ids): void
{
    foreach ($ids as $id) {
        tell($kind, $id);
    }
}

/** Sends n INCR in one go. */
function many(Redis $pipeline, string $key, int $n): array
{
    for ($i = 0; $i < $n; $i++) {
        $pipeline->incr($key);
    }
    return $pipeline->exec();
}

/** Draws until the server went away and came back, and 10 ids more. */
function outage(Redis $db, string $key): void
{
    tell('ready');
    $failed = 0;
    $example = '';
    for ($after = 0; $after < 10;) {
        clearstatcache();
        $up = file_exists(getenv('REDLEAF_UP'));
        try {
            $id = $db->incr($key);
            if ($id === false) {
                throw new RedisException((string) $db->getLastError());
            }
            tell('shared', $id);
            $after += $up ? 1 : 0;
        } catch (RedisException $err) {
            $failed++;
            $example = $err->getMessage();
            usleep(20000);
            reconnect($db);
        }
    }
    tell('failed', $failed, $example);
}

/** phpredis reconnects by itself, but gives up for good when the server is not back at once. */
function reconnect(Redis $db): void
{
    try {
        connect($db);
    } catch (RedisException) {
        // The next draw says so.
    }
}

function connect(Redis $db): void
{
    [$host, $port] = explode(':', getenv('REDLEAF_ADDR'));
    $db->connect($host, (int) $port);
    if (getenv('REDLEAF_PASSWORD') != '') {
        $db->auth(getenv('REDLEAF_PASSWORD'));
    }
}

tell('version', phpversion('redis'));
$db = new Redis();
connect($db);

tell('own', $db->incr($own));
tell('block', $db->incrBy($own, 1000));
tell('snowflake', $db->get($snowflake));
tellAll('shared', many($db->pipeline(), $shared, MANY));
tellAll('own', many($db->multi(), $own, 100));
// This version's lPop takes no count.
tellAll('own', $db->rawCommand('LPOP', $own, '1000'));
tellAll('snowflake', $db->rawCommand('LPOP', $snowflake, '1000'));
$db->rawCommand('REDLEAFNOPE', 'a');
tell('error', $db->getLastError());
$db->clearLastError();
outage($db, $shared);
