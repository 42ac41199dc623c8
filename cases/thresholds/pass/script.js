import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('c_all'), g = new Gauge('g_all'), r = new Rate('r_all'), t = new Trend('t_all');
export const options = { thresholds: {
  c_all: ['count==3', 'count<4', 'rate>0'],
  g_all: ['value==7'],
  r_all: ['rate>=0.5', 'rate!=1'],
  t_all: ['avg===2', 'min<=1', 'max>=3', 'med==2', 'p(90)<3', 'p(99.9)>2.9'],
} };
export default function () { c.add(1); c.add(2); g.add(9); g.add(7); r.add(true); r.add(0); for (const v of [1, 2, 3]) t.add(v); }
