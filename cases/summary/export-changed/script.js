import { check, group } from 'k6';
import { Gauge, Rate, Trend } from 'k6/metrics';
const [share, sizes, level] = [new Rate('share'), new Trend('sizes'), new Gauge('level')];
export const options = { thresholds: { share: ['rate>=0'], sizes: ['avg<9'] } };
export default function () { share.add(1); sizes.add(3); level.add(2); group('g', () => check(1, { ok: true })); }
export function handleSummary(data) {
  const { metrics } = data;
  for (const name of Object.keys(metrics)) if (!['share', 'sizes', 'level', 'checks'].includes(name)) delete metrics[name];
  metrics.share.values.more = 2;
  metrics.share.values.rate = 0.25;
  metrics.sizes.thresholds['avg<9'].ok = false;
  metrics.level.values = {};
  metrics.unused = {};
  metrics.added = { type: 'rate', contains: 'default', values: { rate: 1, odd: NaN, text: 'x' } };
  data.root_group.groups[0].checks[0].passes = 7;
  data.options = null;
  data.more = [1];
  data.setup_data = 's';
  return {};
}
