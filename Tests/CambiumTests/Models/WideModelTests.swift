// Models with so many properties that their records have the large form.

import Cambium
import Testing

@Suite("A model with 272 properties") struct WideModelTests {
  @Test("is stored and read, and leaves nothing behind for the model that is written next")
  func beforeAnother() throws {
    let database = try Database.inMemory()
    for number in 1...3 {
      try database.write { tx in
        try tx.insert(WideModel(id: .init(number), q16: number))
        try tx.insert(NarrowModel(id: .init(number), count: 7, text: "seven"))
        try tx.upsert(WideModel(id: .init(number), q16: -number))
        try tx.increment(NarrowModel.ID(number), \.count, by: 1)
        try tx.set(WideModel.ID(number), \.a1, to: 100)
        try tx.set(NarrowModel.ID(number), \.text, to: "eight")
      }
    }
    try database.read { snapshot in
      for number in 1...3 {
        let wide = try #require(try snapshot.find(WideModel.ID(number)))
        #expect(wide.q16 == -number && wide.a0 == 1 && wide.a1 == 100 && wide.p16 == 6)
        let narrow = try #require(try snapshot.find(NarrowModel.ID(number)))
        #expect(narrow.count == 8 && narrow.text == "eight")
        #expect(try snapshot[NarrowModel.ID(number).path]["text"] == "eight")
      }
    }
    #expect(try database.verify().isSound)
  }
}

private struct NarrowModel: Cambium.Model {
  typealias Key = Int
  var id = ID()
  var count = 0
  var text = ""

  static let schema = ModelSchema<NarrowModel>("narrow")
}

private struct WideModel: Cambium.Model {
  typealias Key = Int
  var id = ID()
  var a0 = 1, a1 = 2, a2 = 3, a3 = 4, a4 = 5, a5 = 6, a6 = 7, a7 = 1, a8 = 2, a9 = 3, a10 = 4,
    a11 = 5, a12 = 6, a13 = 7, a14 = 1, a15 = 2, a16 = 3
  var b0 = 4, b1 = 5, b2 = 6, b3 = 7, b4 = 1, b5 = 2, b6 = 3, b7 = 4, b8 = 5, b9 = 6, b10 = 7,
    b11 = 1, b12 = 2, b13 = 3, b14 = 4, b15 = 5, b16 = 6
  var c0 = 7, c1 = 1, c2 = 2, c3 = 3, c4 = 4, c5 = 5, c6 = 6, c7 = 7, c8 = 1, c9 = 2, c10 = 3,
    c11 = 4, c12 = 5, c13 = 6, c14 = 7, c15 = 1, c16 = 2
  var d0 = 3, d1 = 4, d2 = 5, d3 = 6, d4 = 7, d5 = 1, d6 = 2, d7 = 3, d8 = 4, d9 = 5, d10 = 6,
    d11 = 7, d12 = 1, d13 = 2, d14 = 3, d15 = 4, d16 = 5
  var e0 = 6, e1 = 7, e2 = 1, e3 = 2, e4 = 3, e5 = 4, e6 = 5, e7 = 6, e8 = 7, e9 = 1, e10 = 2,
    e11 = 3, e12 = 4, e13 = 5, e14 = 6, e15 = 7, e16 = 1
  var f0 = 2, f1 = 3, f2 = 4, f3 = 5, f4 = 6, f5 = 7, f6 = 1, f7 = 2, f8 = 3, f9 = 4, f10 = 5,
    f11 = 6, f12 = 7, f13 = 1, f14 = 2, f15 = 3, f16 = 4
  var g0 = 5, g1 = 6, g2 = 7, g3 = 1, g4 = 2, g5 = 3, g6 = 4, g7 = 5, g8 = 6, g9 = 7, g10 = 1,
    g11 = 2, g12 = 3, g13 = 4, g14 = 5, g15 = 6, g16 = 7
  var h0 = 1, h1 = 2, h2 = 3, h3 = 4, h4 = 5, h5 = 6, h6 = 7, h7 = 1, h8 = 2, h9 = 3, h10 = 4,
    h11 = 5, h12 = 6, h13 = 7, h14 = 1, h15 = 2, h16 = 3
  var i0 = 4, i1 = 5, i2 = 6, i3 = 7, i4 = 1, i5 = 2, i6 = 3, i7 = 4, i8 = 5, i9 = 6, i10 = 7,
    i11 = 1, i12 = 2, i13 = 3, i14 = 4, i15 = 5, i16 = 6
  var j0 = 7, j1 = 1, j2 = 2, j3 = 3, j4 = 4, j5 = 5, j6 = 6, j7 = 7, j8 = 1, j9 = 2, j10 = 3,
    j11 = 4, j12 = 5, j13 = 6, j14 = 7, j15 = 1, j16 = 2
  var k0 = 3, k1 = 4, k2 = 5, k3 = 6, k4 = 7, k5 = 1, k6 = 2, k7 = 3, k8 = 4, k9 = 5, k10 = 6,
    k11 = 7, k12 = 1, k13 = 2, k14 = 3, k15 = 4, k16 = 5
  var l0 = 6, l1 = 7, l2 = 1, l3 = 2, l4 = 3, l5 = 4, l6 = 5, l7 = 6, l8 = 7, l9 = 1, l10 = 2,
    l11 = 3, l12 = 4, l13 = 5, l14 = 6, l15 = 7, l16 = 1
  var m0 = 2, m1 = 3, m2 = 4, m3 = 5, m4 = 6, m5 = 7, m6 = 1, m7 = 2, m8 = 3, m9 = 4, m10 = 5,
    m11 = 6, m12 = 7, m13 = 1, m14 = 2, m15 = 3, m16 = 4
  var n0 = 5, n1 = 6, n2 = 7, n3 = 1, n4 = 2, n5 = 3, n6 = 4, n7 = 5, n8 = 6, n9 = 7, n10 = 1,
    n11 = 2, n12 = 3, n13 = 4, n14 = 5, n15 = 6, n16 = 7
  var o0 = 1, o1 = 2, o2 = 3, o3 = 4, o4 = 5, o5 = 6, o6 = 7, o7 = 1, o8 = 2, o9 = 3, o10 = 4,
    o11 = 5, o12 = 6, o13 = 7, o14 = 1, o15 = 2, o16 = 3
  var p0 = 4, p1 = 5, p2 = 6, p3 = 7, p4 = 1, p5 = 2, p6 = 3, p7 = 4, p8 = 5, p9 = 6, p10 = 7,
    p11 = 1, p12 = 2, p13 = 3, p14 = 4, p15 = 5, p16 = 6
  var q16 = 0

  static let schema = ModelSchema<WideModel>("wide")
}
