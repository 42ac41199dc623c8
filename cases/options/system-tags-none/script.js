import http from 'k6/http';
export const options = { systemTags: [] };
export default function () { http.get(`${__ENV.BASE}/get`); }
