import http from 'k6/http';
http.setResponseCallback(null);
export default function () { http.get(`${__ENV.BASE}/status/500`); http.get(`${__ENV.BASE}/status/200`); }
