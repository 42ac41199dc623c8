import http from 'k6/http';
export const options = { rps: 20, vus: 2, iterations: 6 };
export function setup() { return Date.now(); }
export default function () { http.get(`${__ENV.BASE}/get`); }
export function teardown(begun) { const took = Date.now() - begun; console.log(took > 200, took < 1500); }
