import redis, { Client } from 'k6/experimental/redis';
export default function () { console.log(typeof redis.Client, typeof Client); }
