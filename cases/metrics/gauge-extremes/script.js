import { Gauge } from 'k6/metrics';
const g = new Gauge('g1');
export default function () { for (const v of [5, -3, 10, 2]) g.add(v); }
export function handleSummary(data) { return { stdout: JSON.stringify(Object.entries(data.metrics.g1.values).sort()) + '\n' }; }
