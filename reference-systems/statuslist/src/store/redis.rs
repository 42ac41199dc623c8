//! Lists in Redis. Each change is one command or one script, so it is atomic. With
//! `appendfsync always`, a response means that the change is on the disk.
//!
//! | key | contents |
//! |---|---|
//! | `statuslist:list:<id>` | hash: pool, size, bits, seed, reserved |
//! | `statuslist:bits:<id>` | the statuses, packed |
//! | `statuslist:room:<pool>:<size>x<bits>` | the lists with free positions, oldest first |
//! | `statuslist:lists:<pool>` | all lists, oldest first |

use std::sync::LazyLock;
use std::time::Duration;

use clap::ValueEnum;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, FromRedisValue, RedisError, Script, cmd};
use uuid::Uuid;

use super::{Block, Facts, Failure, NewList, Outcome};
use crate::pools::Shape;
use crate::shuffle::Seed;
use crate::status::Width;

/// Time limit for connecting, and for a response.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Pause between attempts to reconnect.
const PAUSE: Duration = Duration::from_millis(50);

/// Maximum queued commands before callers wait.
const PIPELINE: usize = 1024;

/// The durability that Redis must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Durability {
    /// An append-only file, flushed before each response (`appendfsync always`)
    Always,
    /// An append-only file, flushed each second: a crash of the machine may lose the changes of a second
    Everysec,
    /// Nothing: after a crash of Redis, indices may be issued twice
    None,
}

/// KEYS: the lists with free positions. ARGV: how many, the prefix of lists' keys.
static RESERVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "while true do
           local id = redis.call('LINDEX', KEYS[1], 0)
           if not id then return false end
           local key = ARGV[2] .. id
           local list = redis.call('HMGET', key, 'size', 'reserved', 'seed')
           local size, reserved = tonumber(list[1]), tonumber(list[2])
           if size and reserved and reserved < size then
             local take = math.min(tonumber(ARGV[1]), size - reserved)
             redis.call('HINCRBY', key, 'reserved', take)
             if reserved + take == size then redis.call('LPOP', KEYS[1]) end
             return {id, list[3], reserved, take}
           end
           redis.call('LPOP', KEYS[1])
         end",
    )
});

/// KEYS: the list, its statuses, the lists with free positions, all lists of the pool. ARGV: id,
/// pool, size, bits, seed, offset of the last byte.
static CREATE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "redis.call('HSET', KEYS[1], 'pool', ARGV[2], 'size', ARGV[3], 'bits', ARGV[4],
                    'seed', ARGV[5], 'reserved', 0)
         redis.call('SETRANGE', KEYS[2], ARGV[6], '\\0')
         redis.call('RPUSH', KEYS[3], ARGV[1])
         redis.call('RPUSH', KEYS[4], ARGV[1])",
    )
});

/// KEYS: the lists with free positions. ARGV: the prefix of lists' keys. Only the oldest such list
/// can be partly used.
static UNTOUCHED: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local count = redis.call('LLEN', KEYS[1])
         if count > 0 then
           local key = ARGV[1] .. redis.call('LINDEX', KEYS[1], 0)
           if redis.call('HGET', key, 'reserved') ~= '0' then count = count - 1 end
         end
         return count",
    )
});

/// KEYS: all lists of the pool. ARGV: how many at most, the prefix of lists' keys.
static ISSUED: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local issued = {}
         for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)) do
           if redis.call('HGET', ARGV[2] .. id, 'reserved') ~= '0' then issued[#issued + 1] = id end
         end
         return issued",
    )
});

const LIST: &str = "statuslist:list:";

fn bits_key(list: Uuid) -> String {
    format!("statuslist:bits:{list}")
}

fn available_lists_key(pool: &str, shape: Shape) -> String {
    format!(
        "statuslist:room:{pool}:{}x{}",
        shape.size,
        shape.width.bits()
    )
}

fn lists_key(pool: &str) -> String {
    format!("statuslist:lists:{pool}")
}

pub struct Redis {
    connection: ConnectionManager,
}

impl Redis {
    pub async fn open(url: &str, durability: Durability) -> Result<Redis, String> {
        let client = Client::open(url).map_err(|error| error.to_string())?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_number_of_retries(2)
            .set_min_delay(PAUSE)
            .set_max_delay(PAUSE * 4)
            .set_pipeline_buffer_size(PIPELINE);
        let connection = client
            .get_connection_manager_with_config(config)
            .await
            .map_err(|error| error.to_string())?;
        let redis = Redis { connection };
        redis.check(durability).await?;
        Ok(redis)
    }

    /// Redis must be configured to keep what it acknowledges.
    async fn check(&self, durability: Durability) -> Result<(), String> {
        let flushed: &[&str] = match durability {
            Durability::Always => &["always"],
            Durability::Everysec => &["always", "everysec"],
            Durability::None => return Ok(()),
        };
        const HINT: &str = "start it with --appendonly yes --appendfsync always, or accept less with --redis-durability";
        for (name, allowed) in [("appendonly", &["yes"][..]), ("appendfsync", flushed)] {
            let mut command = cmd("CONFIG");
            command.arg("GET").arg(name);
            let reply: Vec<String> = self.run_command(&command).await.map_err(|reason| {
                format!(
                    "cannot read its persistence settings: {reason}. \
                     To continue without this check, use --redis-durability none"
                )
            })?;
            let value = reply.get(1).map_or("unknown", String::as_str);
            if !allowed.contains(&value) {
                return Err(format!(
                    "its setting {name} is '{value}', so a crash would lose acknowledged updates; {HINT}"
                ));
            }
        }
        Ok(())
    }

    async fn run_command<T: FromRedisValue>(&self, command: &redis::Cmd) -> Outcome<T> {
        command
            .query_async(&mut self.connection.clone())
            .await
            .map_err(unavailable)
    }

    async fn run<T: FromRedisValue>(&self, script: &redis::ScriptInvocation<'_>) -> Outcome<T> {
        script
            .invoke_async(&mut self.connection.clone())
            .await
            .map_err(unavailable)
    }

    pub async fn create(&self, list: &NewList) -> Outcome<()> {
        let last = list.shape.width.bytes_for(list.shape.size) - 1;
        let mut script = CREATE.key(format!("{LIST}{}", list.id));
        script
            .key(bits_key(list.id))
            .key(available_lists_key(&list.pool, list.shape))
            .key(lists_key(&list.pool))
            .arg(list.id.to_string())
            .arg(&list.pool)
            .arg(list.shape.size)
            .arg(list.shape.width.bits())
            .arg(&list.seed.0[..])
            .arg(last);
        self.run(&script).await
    }

    pub async fn reserve(&self, pool: &str, shape: Shape, want: u32) -> Outcome<Option<Block>> {
        let mut script = RESERVE.key(available_lists_key(pool, shape));
        script.arg(want).arg(LIST);
        let reply: Option<(String, Vec<u8>, u32, u32)> = self.run(&script).await?;
        let Some((list, seed, start, count)) = reply else {
            return Ok(None);
        };
        let seed = seed
            .try_into()
            .map_err(|_| damaged("a seed has not 32 bytes"))?;
        Ok(Some(Block {
            list: id(&list)?,
            seed: Seed(seed),
            start,
            count,
        }))
    }

    pub async fn untouched(&self, pool: &str, shape: Shape) -> Outcome<u32> {
        let mut script = UNTOUCHED.key(available_lists_key(pool, shape));
        script.arg(LIST);
        self.run(&script).await
    }

    pub async fn facts(&self, list: Uuid) -> Outcome<Option<Facts>> {
        let mut command = cmd("HMGET");
        command
            .arg(format!("{LIST}{list}"))
            .arg(&["pool", "size", "bits"]);
        let (pool, size, bits): (Option<String>, Option<u32>, Option<u8>) =
            self.run_command(&command).await?;
        let (Some(pool), Some(size), Some(bits)) = (pool, size, bits) else {
            return Ok(None);
        };
        let width = Width::try_from(bits).map_err(|reason| damaged(&reason))?;
        let shape = Shape { size, width };
        Ok(Some(Facts { pool, shape }))
    }

    pub async fn set(&self, list: Uuid, shape: Shape, index: u32, value: u8) -> Outcome<bool> {
        let place = shape.width.place(index);
        let mut command = cmd("BITFIELD");
        command
            .arg(bits_key(list))
            .arg("SET")
            .arg(format!("u{}", shape.width.bits()))
            .arg(place.bits_from_left(shape.width))
            .arg(value);
        let _before: Vec<u8> = self.run_command(&command).await?;
        Ok(true)
    }

    pub async fn statuses(&self, list: Uuid) -> Outcome<Option<Vec<u8>>> {
        let mut command = cmd("GET");
        command.arg(bits_key(list));
        self.run_command(&command).await
    }

    pub async fn issued(&self, pool: &str, most: u32) -> Outcome<Vec<Uuid>> {
        let mut script = ISSUED.key(lists_key(pool));
        script.arg(most).arg(LIST);
        let ids: Vec<String> = self.run(&script).await?;
        ids.iter().map(|list| id(list)).collect()
    }

    pub async fn reachable(&self) -> Outcome<()> {
        self.run_command(&cmd("PING")).await
    }
}

fn unavailable(error: RedisError) -> Failure {
    Failure::Unavailable(format!("Redis: {error}"))
}

fn damaged(what: &str) -> Failure {
    Failure::Unavailable(format!(
        "Redis holds what was not written by this program: {what}"
    ))
}

fn id(text: &str) -> Outcome<Uuid> {
    Uuid::parse_str(text).map_err(|_| damaged("a list's name is not a UUID"))
}
