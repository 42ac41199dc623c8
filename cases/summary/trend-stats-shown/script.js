import { Trend } from 'k6/metrics';
const t = new Trend('sizes');
export const options = { summaryTrendStats: ['count', 'p(99.9)', 'max', 'min', 'p(12.5)'], iterations: 1 };
export default function () { for (let i = 0; i <= 1000; i += 10) t.add(i); }
