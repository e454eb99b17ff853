import { expect, it } from '@jest/globals';
import { formOf } from './form-body.js';

it('reads a form as OAuth clients send it, each field once, and none that would reach a prototype', () => {
  expect(formOf('grant_type=urn%3Aa%3Ab&device_name=the+one+%26+only')).toEqual({
    grant_type: 'urn:a:b',
    device_name: 'the one & only',
  });
  expect(() => formOf('a=1&b=2&a=1')).toThrow('malformed-body');
  const read = formOf('__proto__=1&constructor=2');
  expect([Object.keys(read), Object.getPrototypeOf(read) === Object.prototype]).toEqual([[], true]);
});
