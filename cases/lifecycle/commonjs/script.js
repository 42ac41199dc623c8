const http = require('k6/http');
const { check } = require('k6');
exports.options = { vus: 1, iterations: 1 };
exports.default = function () { check(http.get(`${__ENV.BASE}/get`), { ok: (r) => r.status === 200 }); };
