export const options = { thresholds: { http_reqs: ['count>1', { threshold: 'rate>1', abortOnFail: true, delayAbortEval: '10s' }], 'http_req_duration{status:200,method:GET}': ['p(95)<100'], checks: [{ threshold: 'rate>0.9' }] } };
export default function () {}
