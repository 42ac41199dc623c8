// The common start of the random programs of the tests.
let G={n:0,s:'init',a:[1,2,3],o:{x:1,y:{z:[{}]}},big:12345678901234567890n};
var gv=1; const M=new Map([['a',1],['b',{q:1}]]), S=new Set([1,2,'x']), W=new WeakMap(), WS=new WeakSet(), keys=[{k:0},{k:1},{k:2}];
keys.forEach((k,i)=>W.set(k,'w'+i));
class A{ #p=1; static count=0; constructor(n){this.n=n;A.count++;} inc(){ this.#p++; this.n+=this.#p; return this; } get v(){return this.#p*1000+this.n;} set v(x){this.n=x;} static make(n){return new A(n);} }
class B extends A{ constructor(n){super(n);this.h=[];} inc(){ super.inc(); this.h.push(this.n%7); if(this.h.length>9)this.h.shift(); return this; } toString(){return 'B('+this.v+','+this.h.join('')+')';} }
const objs=[new A(1),new B(2),new B(3)];
function counter(c){ return {up:()=>++c, down:()=>--c, get:()=>c}; }
const cs=[counter(0),counter(10),counter(100)];
const re=/(\w)(\d+)/g, re2=/k(?<num>\d+)/y, d0=new Date(86400000);
function* gen(n){ let i=0; try{ while(true){ const x=yield i+n; i+=(x||1); if(i>50) i=0; } } finally { G.n+=1000; } }
const gens=[gen(1),gen(2)]; gens[0].next();
const ta=new Uint32Array(32), ab=new DataView(new ArrayBuffer(64)), f64=new Float64Array([1.5,2.5]);
let pend=[], chain=Promise.resolve(0), log=[], sym=Symbol('s'), tmpl=(x)=>((t,...v)=>t.raw.join('|')+v.join(','))`a${x}b${x+1}c`;
const frozen=Object.freeze({a:1,b:[1]}), prox=new Proxy({},{get:(t,k)=>k in t?t[k]:'dflt:'+String(k),set:(t,k,v)=>{t[k]=v;return true;}});
const agen=(async function*(){ let i=0; while(true){ yield i++; await null; } })();
let bound=function(a,b){ return this.q+a+b; }.bind({q:1},2);
let str='s'.repeat(20), rope='', sub=str.substring(3,15), link=null; const wr=new WeakRef(keys[0]);
async function later(x){ const r=get('a'); await null; const q=get('b'); log.push(x+':'+JSON.parse(r.body).n+'/'+JSON.parse(q.body).n); return x; }
function deep(n){ return n<=0?get('deep').status:deep(n-1)+1; }
function thrower(n){ if(n%3==0) throw new TypeError('t'+n); if(n%3==1) throw {code:n}; return null.x; }
const json=JSON.parse('{"a":[1,2,{"b":null}],"c":"d"}');
let lazyFns={}; var self=globalThis;
function structuredEq(a,b){ return JSON.stringify(a)===JSON.stringify(b); }
function R(n){ return Math.floor(Math.random()*n); }
