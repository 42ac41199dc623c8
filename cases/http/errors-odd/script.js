import http from 'k6/http';
const all = ['no-colon', 'empty-name', 'space-in-name', 'space-before-colon', 'folded', 'nul-in-value', 'negative-length', 'plus-length',
  'two-lengths', 'same-lengths', 'huge-length', 'length-and-chunks', 'unknown-coding', 'huge-chunk', 'chunk-extension', 'trailers',
  'half-chunk', 'no-last-chunk', 'line-feeds', 'http-1.0', 'http-0.9', 'lower-case', 'no-reason', 'four-digits',
  'status-999', 'status-000', 'more-than-said', 'head-only', 'half-head', 'half-line', 'empty-lines-first', 'ssh', 'tls-alert'];
export default function () {
  for (const how of all) {
    const r = http.get(`${__ENV.RAW}/odd/${how}`, { tags: { name: how }, timeout: '5s' });
    console.log(how, r.status, r.error_code, r.error, r.body, JSON.stringify(r.headers), r.status_text, r.proto);
  }
}
