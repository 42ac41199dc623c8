export const options = { thresholds: { http_reqs: ['p(95)<5'] } };
export default function () { console.log('never'); }
