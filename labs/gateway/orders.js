// Places an order: a POST with nine fields, some of whose text is not ASCII.
import http from 'k6/http';
import { check } from 'k6';

const url = `${__ENV.BASE_URL || 'http://127.0.0.1:9800'}/spot/orders`;
const protocol = __ENV.PROTOCOL || 'HTTP/1.1';
const order = JSON.stringify({
  currency_pair: 'BTC_USDT',
  type: 'limit',
  account: 'unified',
  side: 'buy',
  amount: '0.001',
  price: '65000',
  time_in_force: 'gtc',
  iceberg: '0',
  text: 't-現貨訂單',
});
const params = { headers: { 'Content-Type': 'application/json' } };

export const options = {
  scenarios: {
    orders: {
      executor: 'constant-vus',
      vus: Number(__ENV.USERS || 500),
      duration: __ENV.DURATION || '2m',
    },
  },
  // The test's own authority issued the certificate.
  insecureSkipTLSVerify: true,
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
};

export default function () {
  const answer = http.post(url, order, params);
  check(answer, {
    'the order was placed': (r) => r.status === 200 && r.body.startsWith('{"id":"1852454420","text":"t-現貨訂單"'),
    [`by ${protocol}`]: (r) => r.proto === protocol,
  });
}
