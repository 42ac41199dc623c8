import { absent as fromHttp } from 'k6/http';
import { absent as fromMetrics } from 'k6/metrics';
import * as all from 'k6';
export { fromHttp, fromMetrics, all };
