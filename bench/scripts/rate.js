// A thousand iterations per second, regardless of the server.
import http from 'k6/http';

export const options = {
  discardResponseBodies: true,
  scenarios: {
    open: {
      executor: 'constant-arrival-rate',
      rate: 1000,
      timeUnit: '1s',
      duration: `${__ENV.SECONDS || 20}s`,
      preAllocatedVUs: 1200,
      maxVUs: 2000,
      gracefulStop: '5s',
    },
  },
};

export default function () {
  http.get(__ENV.URL);
}
