// Every user sends one request immediately and then waits for the end.
import http from 'k6/http';
import { sleep } from 'k6';

export const options = {
  scenarios: {
    all: {
      executor: 'per-vu-iterations',
      vus: Number(__ENV.USERS),
      iterations: 1,
      maxDuration: '6s',
      gracefulStop: '0s',
    },
  },
};

export default function () {
  http.get(__ENV.URL);
  sleep(60);
}
