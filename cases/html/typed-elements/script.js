import { parseHTML } from 'k6/html';
const names = {
  a: 'accessKey download hash host hostname href hrefLang origin password pathname port protocol referrerPolicy rel relList search target type username',
  area: 'accessKey download hash host hostname href hrefLang origin password pathname port protocol referrerPolicy rel relList search target type username',
  audio: 'autoplay controls crossOrigin currentSrc defaultMuted loop mediaGroup muted preload src textTracks',
  base: 'href target',
  button: 'accessKey autofocus disabled form formAction formEnctype formMethod formNoValidate formTarget labels name tabIndex type value',
  canvas: 'height width',
  data: 'value',
  datalist: 'options',
  del: 'cite datetime',
  embed: 'height src type width',
  fieldset: 'disabled elements form name type validity',
  form: 'acceptCharset action autocomplete elements encoding enctype length method name noValidate target',
  iframe: 'allowfullscreen height name referrerPolicy src width',
  img: 'alt crossOrigin currentSrc height isMap name referrerPolicy sizes src srcset useMap width',
  input: 'accept accessKey alt autocomplete autofocus checked defaultChecked defaultValue dirName disabled form formAction formEnctype formMethod formNoValidate formTarget height labels list max maxLength min multiple name pattern placeholder readonly required size src step tabIndex type value width',
  ins: 'cite datetime',
  keygen: 'autofocus challenge disabled form keytype labels name type',
  label: 'control form htmlFor',
  legend: 'accessKey form',
  li: 'type value',
  link: 'crossOrigin href hreflang media referrerPolicy rel relList target type',
  map: 'areas images name',
  meta: 'content name',
  meter: 'high labels low max min optimum',
  object: 'data form height name tabIndex type typeMustMatch useMap width',
  ol: 'reversed start type',
  optgroup: 'disabled label',
  option: 'defaultSelected disabled form index label selected value',
  output: 'defaultValue form htmlFor labels name type value',
  param: 'name value',
  pre: 'name value',
  progress: 'labels max position value',
  script: 'async charset crossOrigin defer noModule src type',
  select: 'autofocus disabled form labels length multiple name options required selectedIndex selectedOptions size tabIndex type value',
  source: 'keySystem media sizes src srcset type',
  style: 'media type',
  tbody: 'rows',
  td: 'cellIndex colSpan headers rowSpan',
  col: 'span',
  table: 'caption rows sortable tBodies tFoot tHead',
  tfoot: 'rows',
  thead: 'rows',
  th: 'abbr cellIndex colSpan headers rowSpan scope sorted',
  tr: 'cells rowIndex sectionRowIndex',
  textarea: 'accessKey autocapitalize autocomplete cols defaultValue form labels length maxLength placeholder readOnly required rows tabIndex type value wrap',
  time: 'datetime',
  track: 'default kind label src srclang',
  ul: 'type',
  video: 'autoplay controls crossOrigin currentSrc defaultMuted loop mediaGroup muted preload src textTracks',
};
const doc = parseHTML(`<!doctype html><html lang=en><head><title>T t</title><base href="/b/" target=_top><link rel="stylesheet next" href="x.css" type="text/css" media=m hreflang=h><script src=s.js defer async type=module charset=utf-8 nomodule>code()</script><style media=print>p{}</style><meta name=n content=c http-equiv=refresh></head><body>
<a id=a1 href="https://user:pa%20ss@example.com:8443/p/q?x=1&y=2#frag" rel="a b  c" target=_blank download=d hreflang=en type=tt rev=r ping=pp>link <b>bold</b></a>
<a id=a2 href="/rel/path?q#h">r</a><a id=a3>no</a><a id=a4 href="http://[::1]:80">v6</a><a id=a5 href="mailto:x@y">m</a><a id=a6 href="https://example.com:443">d</a><a id=a7 href="//host/p">pr</a><a id=a8 href="#only">h</a><a id=a9 href="">e</a><a id=a10 href="http://h:99999/%zz">bad</a>
<map name=mm id=map1><area id=ar href="http://a.b/c" alt=al coords=1,2 shape=rect></map><img id=i1 usemap=#mm src=i.png alt=A width=10 height=20 ismap srcset=s sizes=z crossorigin=anonymous name=im longdesc=ld><object id=ob usemap=#mm data=d type=t name=on width=3 height=4 form=f1></object>
<form id=f1 action="/act" method=POST enctype="text/plain" target=tg name=fn accept-charset=utf-8 autocomplete=off novalidate>
<fieldset id=fs name=fsn disabled form=f1><legend id=lg>L</legend><input id=in1 name=n1 value=v1 type=text maxlength=10 minlength=2 size=5 placeholder=ph readonly required autofocus autocomplete=on pattern=p list=dl min=1 max=9 step=2 formaction=/fa formmethod=put formenctype=fe formnovalidate formtarget=ft accept=acc alt=al src=sr width=7 height=8 multiple defaultvalue=x spellcheck=true></fieldset>
<input id=in2 type=checkbox checked value=cb><input id=in3 type=radio><input id=in4><input id=in5 type=BOGUS value=z>
<label id=l1 for=in1>lab1</label><label id=l2>wrap <input id=in6></label><label id=l3 for=nope>x</label>
<button id=b1 name=bn value=bv type=reset formaction=/b formmethod=POST disabled>B</button><button id=b2>B2</button><button id=b3 type=odd formmethod=odd formenctype="multipart/form-data">B3</button>
<select id=s1 name=sn size=3 required><option id=o1 value=1 label=LL>one<option id=o2 selected>two<optgroup id=og label=G disabled><option id=o3 selected value=3>three</optgroup></select>
<select id=s2 multiple><option id=o4 selected>m1<option selected value=q>m2<option disabled>m3</select><select id=s3></select><select id=s4><option>zz</select>
<textarea id=t1 name=tn rows=3 cols=4 maxlength=9 wrap=hard placeholder=tp readonly>text
area</textarea><textarea id=t2></textarea>
<output id=out for="in1 in2" name=on>outv</output><output id=out2></output><keygen id=kg name=kn challenge=c keytype=rsa><progress id=p1 value=3 max=10></progress><progress id=p2></progress><progress id=p3 value=2></progress><progress id=p4 value=x max=0></progress><meter id=m1 value=.5 min=0 max=2 low=.2 high=.8 optimum=.4></meter><meter id=m2></meter>
</form><label id=l4 for=b1>out</label><input id=in7 form=f1 name=outer>
<datalist id=dl><option id=do1 value=d1><option value=d2></datalist>
<table id=tb border=1><caption id=cap>C</caption><colgroup id=cg span=2><col id=c1 span=3><col id=c2></colgroup><thead id=th0><tr id=r0><th id=h1 scope=col colspan=2 rowspan=3 headers="a b" abbr=ab>H</th></tr></thead><tbody id=tbo><tr id=r1><td id=d1>1</td><td id=d2 colspan=x headers=h1>2</td></tr><tr id=r2></tr></tbody><tbody id=tbo2></tbody><tfoot id=tf><tr id=r3><td id=d3></td></tr></tfoot></table><table id=tb2></table>
<ol id=ol reversed start=5 type=a><li id=li1 value=7 type=A>x</li></ol><ul id=ul type=disc><li id=li2></li></ul>
<audio id=au src=a.mp3 autoplay controls loop muted preload=none mediagroup=g crossorigin=use-credentials><track id=tr kind=captions srclang=en label=TL src=t.vtt default></audio><video id=vi poster=po width=5 height=6></video><source id=so src=s media=me type=ty srcset=ss sizes=sz>
<canvas id=cv width=11></canvas><canvas id=cv2 width=x height=-3></canvas><iframe id=if src=u srcdoc=sd name=ifn sandbox="x y" width=1 height=2 allowfullscreen></iframe><embed id=em src=e type=et width=1 height=2><param id=pa name=pn value=pv><q id=q cite=ci>q</q><blockquote id=bq cite=cc>b</blockquote><del id=de cite=dc datetime=2020>d</del><ins id=ins datetime=2021>i</ins><time id=ti datetime=2022>t</time><data id=da value=dv>D</data><pre id=pr name=prn>p</pre><dialog id=di open></dialog><div id=dv class="c1  c2" lang=fr title=tt data-x=1 data-y='{"a":1}' data-n=007 data-f=1.50 data-t=true data-z=null data-cam-el=q data-big=12345678901234567890 data-e="" data-j="[1," data-neg=-5 data-exp=1e3>x<!--cm--><b>y</b>tail</div><div id=dv2 class="c1  c2" lang=fr>x</div><p id=emp></p></body></html>`);
const one = (v) => (v === undefined ? 'undefined' : v && v.nodeName ? '<' + v.nodeName() + ' ' + v.id() + '>' : JSON.stringify(v));
const show = (v) => (Array.isArray(v) ? '[' + v.map(one).join() + ']' : one(v));
export default function () {
  for (const selection of doc.find('*').toArray()) {
    const element = selection.get(0);
    const known = names[element.nodeName()];
    if (known) console.log(element.nodeName(), element.id(), known.split(' ').map((name) => name + ' ' + show(element[name]())).join('; '));
  }
}
