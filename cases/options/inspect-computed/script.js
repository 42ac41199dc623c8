const stages = (n) => Array.from({ length: n }, (_, i) => ({ duration: `${i + 1}s`, target: (i + 1) * Number(__ENV.USERS || 1) }));
export const options = { stages: stages(3), tags: { users: __ENV.USERS }, thresholds: Object.fromEntries(['a', 'b'].map((name) => [`http_req_duration{name:${name}}`, ['p(95)<500']])) };
export default function () {}
