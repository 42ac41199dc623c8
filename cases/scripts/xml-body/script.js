import http from 'k6/http';
import { check } from 'k6';
const body = `<?xml version="1.0"?>
<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><Add><a>1</a><b>2</b></Add></soap:Body></soap:Envelope>`;
export default function () {
  const r = http.post(`${__ENV.BASE}/back`, body, { headers: { 'Content-Type': 'text/xml', SOAPAction: '"add"' } });
  check(r, { 'has numbers': (x) => /<a>(\d)<\/a><b>(\d)<\/b>/.test(x.body) });
  console.log(r.html('a').text(), r.html().find('b').text(), r.html('soap\\:Body').size());
}
