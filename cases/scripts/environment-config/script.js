const targets = { dev: { users: 1, host: 'dev.example' }, stage: { users: 2, host: 'stage.example' } };
const target = targets[__ENV.TARGET || 'dev'];
if (!target) throw new Error(`no such target: ${__ENV.TARGET}`);
export const options = { vus: target.users, iterations: target.users * 2, tags: { target: __ENV.TARGET } };
export default function () { if (__VU > target.users) console.log('too many'); }
