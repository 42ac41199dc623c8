import { absent as a } from 'k6';
import { absent as b } from 'k6/browser';
import { absent as c } from 'k6/crypto';
import { absent as d } from 'k6/crypto/x509';
import { absent as e } from 'k6/data';
import { absent as f } from 'k6/encoding';
import { absent as g } from 'k6/execution';
import { absent as h } from 'k6/experimental/csv';
import { absent as i } from 'k6/experimental/fs';
import { absent as j } from 'k6/experimental/streams';
import { absent as k } from 'k6/html';
import http, { absent as l, get } from 'k6/http';
import { absent as m, Counter } from 'k6/metrics';
import { absent as n } from 'k6/net/grpc';
import { absent as o } from 'k6/secrets';
import { absent as p } from 'k6/timers';
import { absent as q } from 'k6/websockets';
import { absent as r } from 'k6/ws';
import { absent as s } from './common.js';
import * as metrics from 'k6/metrics';
const { absent: t } = require('k6/metrics');
export default function () {
  console.log([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t].map(String).join());
  console.log(typeof a, typeof l, typeof get, get === http.get, typeof Counter, 'absent' in metrics, metrics.absent);
}
