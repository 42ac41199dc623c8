import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
new Counter('no_count'); new Gauge('no_value'); new Rate('no_rate'); new Trend('no_trend');
export const options = { thresholds: {
  no_count: ['count==0'], no_value: ['value<1'], no_rate: ['rate>0.9'], no_trend: ['p(95)<1', 'max>5'],
} };
export default function () {}
