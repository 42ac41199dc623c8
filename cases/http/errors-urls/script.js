import http from 'k6/http';
export default function () {
  for (const url of ['', 'no-scheme', 'http://', 'http://bad host/', 'ftp://127.0.0.1/', 'http://127.0.0.1:99999/', 'http://[::1', 'http:///path', '%zz', 'mailto:a@b']) {
    try { const r = http.get(url); console.log(url, r.status, r.error_code); } catch (e) { console.log('threw', url); }
  }
}
