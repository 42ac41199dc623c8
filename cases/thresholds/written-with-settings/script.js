export const options = {
  thresholds: {
    iterations: ['count<9', { threshold: 'count>0', abortOnFail: true }, { threshold: 'count<8', abortOnFail: true, delayAbortEval: '1s' }, { threshold: 'count<7' }],
  },
};
export default function () {}
