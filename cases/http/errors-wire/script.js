import http from 'k6/http';
export default function () {
  for (const how of ['close', 'reset', 'garbage', 'half', 'until-close', 'chunk', 'bad-length', 'bad-status', 'continue']) {
    const r = http.get(`${__ENV.RAW}/${how}`);
    console.log(how, r.status, r.error_code, r.body);
  }
}
