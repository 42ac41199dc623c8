export const options = { thresholds: { http_reqs: 'count>0' } };
export default function () {}
