export const options = { thresholds: { http_req_duration: ['p(101)<1'] } };
export default function () { console.log('never'); }
