export const options = { thresholds: { http_reqs: ['count is high'] } };
export default function () { console.log('never'); }
