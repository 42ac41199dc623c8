import { fromHttp, fromMetrics, all } from './imported.js';
export default function () { console.log(String(fromHttp), String(fromMetrics), String(all.absent), typeof all.sleep); }
