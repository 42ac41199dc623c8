import cryptoDefault, * as crypto from 'k6/crypto';
import fsDefault, * as fs from 'k6/experimental/fs';
import htmlDefault, * as html from 'k6/html';
import httpDefault, * as http from 'k6/http';
import metricsDefault, * as metrics from 'k6/metrics';
import grpcDefault, * as grpc from 'k6/net/grpc';
import wsDefault, * as ws from 'k6/ws';
const declared = {
  'k6/crypto': ['Hasher'],
  'k6/experimental/fs': ['File'],
  'k6/html': [
    'AnchorElement', 'AreaElement', 'Attribute', 'AudioElement', 'BaseElement', 'ButtonElement', 'CanvasElement',
    'DataElement', 'DataListElement', 'DelElement', 'Element', 'EmbedElement', 'FieldSetElement', 'FormElement',
    'FormFieldElement', 'HrefElement', 'IFrameElement', 'ImageElement', 'InputElement', 'InsElement', 'KeygenElement',
    'LabelElement', 'LegendElement', 'LiElement', 'LinkElement', 'MapElement', 'MediaElement', 'MetaElement',
    'MeterElement', 'ModElement', 'NodeType', 'OListElement', 'ObjectElement', 'OptGroupElement', 'OptionElement',
    'OutputElement', 'ParamElement', 'PreElement', 'ProgressElement', 'QuoteElement', 'ScriptElement',
    'SelectElement', 'Selection', 'SourceElement', 'StyleElement', 'TableBodyElement', 'TableCellElement',
    'TableColElement', 'TableDataCellElement', 'TableElement', 'TableFootElement', 'TableHeadElement',
    'TableHeaderCellElement', 'TableRowElement', 'TableSectionElement', 'TextAreaElement', 'TimeElement',
    'TitleElement', 'TrackElement', 'UListElement', 'VideoElement', 'NodeType.CommentNode', 'NodeType.DoctypeNode',
    'NodeType.DocumentNode', 'NodeType.ElementNode', 'NodeType.TextNode'
  ],
  'k6/http': ['FileData', 'SSL_3_0', 'ResponseCookie.httpOnly', 'ResponseCookie.maxAge'],
  'k6/metrics': ['Metric'],
  'k6/net/grpc': ['HealthCheckResponse.Status'],
  'k6/ws': ['Socket', 'WebSocketError'],
};
const modules = {
  'k6/crypto': [crypto, cryptoDefault], 'k6/experimental/fs': [fs, fsDefault], 'k6/html': [html, htmlDefault], 'k6/http': [http, httpDefault],
  'k6/metrics': [metrics, metricsDefault], 'k6/net/grpc': [grpc, grpcDefault], 'k6/ws': [ws, wsDefault],
};
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const isIn = (name, value) => value !== undefined && value !== null && (typeof value === 'object' || typeof value === 'function') && name in value;
export default function () {
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  const values = {
    ResponseCookie: Object.values(http.get(`${__ENV.BASE}/set-cookie?a=b`).cookies)[0][0],
    HealthCheckResponse: client.healthCheck(),
  };
  for (const [module, names] of Object.entries(declared)) {
    for (const name of names) {
      // A member can only be read from an object of its type, or from an export with the name of the type.
      const [owner, member] = name.split('.');
      const exists = modules[module].some((exports) => (member ? isIn(member, values[owner] || exports[owner]) : isIn(name, exports)));
      console.log(exists ? 'has' : 'lacks', module, name);
    }
  }
  console.log(Object.keys(values.ResponseCookie).join(), Object.keys(values.HealthCheckResponse).join());
}
