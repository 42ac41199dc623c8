export const options = { thresholds: { http_reqs: [{ threshold: 'count>1', abort: true }] } };
export default function () {}
