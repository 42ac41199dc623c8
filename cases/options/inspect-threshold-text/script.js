export const options = { thresholds: { http_reqs: 'count>1' } };
export default function () {}
