import http from 'k6/http';
export default function () {
  for (const url of ['127.0.0.1:1/', 'localhost', '//127.0.0.1:1/', '/path', 'ftp://127.0.0.1/', 'file:///etc/hosts', 'mailto:a@b', 'HTTP://127.0.0.1:1/', 'http:/127.0.0.1:1', 'http://[::1', 'http://127.0.0.1:port/', 'http://127.0.0.1:99999/', ' http://127.0.0.1:1/', 'http://a b/', 'http://', '?', '#']) {
    const r = http.get(url);
    console.log(JSON.stringify(url), r.status, r.error_code);
  }
}
