export const options = { stages: [{ duration: '10s', target: 5 }, { duration: '5s', target: 0 }], thresholds: { checks: ['rate>0.9', { threshold: 'rate>0.5', abortOnFail: true }] }, tags: { a: 'b' } };
export default function () {}
