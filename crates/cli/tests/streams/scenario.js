// Writable streams in every state. The same code runs in Node.js and in Plimsoll.
async function scenario({WritableStream, ReadableStream, ByteLengthQueuingStrategy}) {
 const out=[]; const log=(...a)=>out.push(a.join(' '));
 const wait=(ms)=>new Promise(r=>setTimeout(r,ms));
 { const got=[];const s=new WritableStream({start(){got.push('start')},write(c){got.push(c);return wait(5)},close(){got.push('close')}}, {highWaterMark:2});
 const wr=s.getWriter();log(s.locked, wr.desiredSize);wr.write('a');wr.write('b');log(wr.desiredSize);let ready=false;wr.ready.then(()=>ready=true);await Promise.resolve();log(ready);await wr.close();await wr.closed;log(got.join()); log(wr.desiredSize);
 try { await wr.close() } catch(e) { log(e.name) } }
 { const f=new WritableStream({write(){throw new RangeError('no')}}).getWriter();try{await f.write(1)}catch(e){log(e.name)}try{await f.write(2)}catch(e){log(e.name)}try{await f.closed}catch(e){log('closed',e.name)} try{await f.ready}catch(e){log('ready',e.name)} log(f.desiredSize); log(String(await f.abort('x'))) }
 { const ab=[];const a=new WritableStream({write(c){return wait(5)},abort(x){ab.push(x)}}).getWriter();await wait(1);const p=a.write(1);a.write(2).catch(e=>ab.push('second '+e));await a.abort('why');await p;log(ab.join()); try{await a.closed}catch(e){log('closed',e)} }
 { const all=[];await new ReadableStream({start(c){c.enqueue(1);c.enqueue(2);c.close()}}).pipeTo(new WritableStream({write(c){all.push(c)},close(){all.push('end')}}));log(all.join()); }
 try{await new ReadableStream({start(c){c.error(new Error('bad'))}}).pipeTo(new WritableStream({abort(e){log('aborted',e.message)}}))}catch(e){log(e.message)}
 { let cancelled; try { await new ReadableStream({pull(c){c.enqueue(1)}, cancel(r){cancelled=r.message}}).pipeTo(new WritableStream({write(){throw new Error('full')}})) } catch(e) { log(e.message, cancelled) } }
 log(new ByteLengthQueuingStrategy({highWaterMark:9}).size(new Uint8Array(4)), new ByteLengthQueuingStrategy({highWaterMark:9}).highWaterMark);
 { const s = new WritableStream({start(c){ this.c=c }, write(c, controller){ controller.error(new Error('own')) }}); const w=s.getWriter(); log(await w.write(1)); try { await w.write(2) } catch(e) { log(e.message) } }
 { const s=new WritableStream({start(){return wait(3).then(()=>{throw new Error('start')})}}); const w=s.getWriter(); try{await w.write(1)}catch(e){log(e.message)} try{await w.close()}catch(e){log(e.name)} }
 { const s=new WritableStream({close(){throw new Error('cl')}}); const w=s.getWriter(); try{await w.close()}catch(e){log(e.message)} try{await w.closed}catch(e){log(e.message)} }
 { const s=new WritableStream({},new ByteLengthQueuingStrategy({highWaterMark:10})); const w=s.getWriter(); w.write(new Uint8Array(4)); log(w.desiredSize); w.releaseLock(); log(s.locked); try{await w.write(1)}catch(e){log(e.name)} const w2=s.getWriter(); await w2.write(new Uint8Array(1)); log(w2.desiredSize); await s.abort().catch(e=>log(e.name)); await w2.abort('r'); try{await w2.write(1)}catch(e){log('after',String(e))} }
 { const s=new WritableStream({write(){return wait(3)},close(){log('closing')}}); const w=s.getWriter(); w.write(1); const c=w.close(); try{await w.write(2)}catch(e){log(e.name)} await c; log('done'); }
 for (const bad of [null, 5, {type:'bytes'}, {write: 5}]) try { new WritableStream(bad); log('made') } catch(e) { log(e.name) }
 try { new WritableStream({}, {highWaterMark:-1}); } catch(e) { log(e.name) }
 try { new WritableStream({}, {size: () => NaN}).getWriter().write(1).catch(e => log('bad size', e.name)); } catch(e) { log(e.name) }
 await wait(5);
 return out;
}
