import http from 'k6/http';
export const options = { systemTags: ['method', 'status', 'vu', 'iter', 'ip', 'proto'] };
export default function () { http.get(`${__ENV.BASE}/get`); }
