export const options = { thresholds: { http_reqs: null } };
export default function () {}
