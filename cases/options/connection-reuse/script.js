import http from 'k6/http';
export const options = { iterations: 3, vus: 1 };
export default function () { console.log(http.get(`${__ENV.BASE}/connection`).json('request')); }
