#pragma once

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {

/// A node before which /home/data lies to be published, as "set", for everybody; two entries of it are skipped.
class PublishFixture : public NodeFixture {
 protected:
  PublishFixture() {
    files_.with([](auto& state) {
      state.tree.metadata = metadata_of("data");
      state.tree.parent = "/home";
      state.tree.skipped = 2;
    });
    link_.with([&](auto& state) { state.next_content = ContentId::make(clock_.wall(), rng_); });
  }
  client::PublishJob publish_job(const std::string& request_id = "r1") {
    client::PublishJob made;
    made.path = "/home/data";
    made.request.request_id = request_id;
    made.request.name = "set";
    made.request.access = "public";
    return made;
  }
};

}  // namespace gridtorrent::testing
