// Gets one page of a fixed length, over plain text, TLS or mutual TLS. Options of the run
// select the HTTP version and whether connections are kept (`--protocol`,
// `--no-connection-reuse`). The checks verify that the responses match these options.
import http from 'k6/http';
import { check } from 'k6';

const url = __ENV.BASE_URL || 'http://127.0.0.1:10080';
const length = Number(__ENV.LENGTH || 4096);
const protocol = __ENV.PROTOCOL || 'HTTP/1.1';

export const options = {
  scenarios: {
    pages: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 200),
      timeUnit: '1s',
      duration: __ENV.DURATION || '10s',
      preAllocatedVUs: 100,
      maxVUs: 500,
    },
  },
  // The test's own authority issued the certificate.
  insecureSkipTLSVerify: true,
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
};
if (__ENV.CLIENT_CERTIFICATE) {
  options.tlsAuth = [{ cert: open(__ENV.CLIENT_CERTIFICATE), key: open(__ENV.CLIENT_KEY) }];
}

export default function () {
  const answer = http.get(`${url}/`);
  check(answer, {
    'the whole page came': (r) => r.status === 200 && r.body.length === length,
    [`by ${protocol}`]: (r) => r.proto === protocol,
  });
}
